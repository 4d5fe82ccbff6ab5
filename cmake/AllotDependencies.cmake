# SPDX-License-Identifier: Apache-2.0
# Everything from Debian 12 packages; each dependency is an imported target used by few folders.

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Poco REQUIRED COMPONENTS Foundation Net NetSSL)
find_package(ZLIB REQUIRED)
find_package(Boost 1.74 REQUIRED)
pkg_check_modules(mysqlclient REQUIRED IMPORTED_TARGET mysqlclient)
# The connector's own. It is asked what the system trusts, and what a server's certificate names.
pkg_check_modules(openssl REQUIRED IMPORTED_TARGET openssl>=3.0)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
# Its core only. Its own package for CMake wants a web server and curl, too.
pkg_check_modules(prometheus REQUIRED IMPORTED_TARGET prometheus-cpp-core)
pkg_check_modules(tomlplusplus REQUIRED IMPORTED_TARGET tomlplusplus)
