# SPDX-License-Identifier: Apache-2.0
# All dependencies come from Debian 12 packages; each is an imported target used by few folders.

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Poco REQUIRED COMPONENTS Foundation Net NetSSL)
find_package(ZLIB REQUIRED)
find_package(Boost 1.74 REQUIRED)
pkg_check_modules(mysqlclient REQUIRED IMPORTED_TARGET mysqlclient)
# Dependency of the connector. Asked directly for the system's trusted certificates and the names in
# a server's certificate.
pkg_check_modules(openssl REQUIRED IMPORTED_TARGET openssl>=3.0)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
# Core only. The CMake package of the library also requires a web server and curl.
pkg_check_modules(prometheus REQUIRED IMPORTED_TARGET prometheus-cpp-core)
pkg_check_modules(tomlplusplus REQUIRED IMPORTED_TARGET tomlplusplus)
