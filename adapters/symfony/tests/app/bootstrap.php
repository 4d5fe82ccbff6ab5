<?php
// SPDX-License-Identifier: Apache-2.0
// A small application on Debian's package of the framework, which has no vendor folder:
// include_path finds its autoloaders.
foreach (['Symfony/Bundle/FrameworkBundle', 'Symfony/Component/Messenger', 'Symfony/Component/Messenger/Bridge/Doctrine',
          'Symfony/Component/Serializer', 'Symfony/Component/PropertyAccess', 'Symfony/Component/PropertyInfo',
          'Doctrine/DBAL', 'Doctrine/Persistence'] as $package) {
    require_once "$package/autoload.php";
}
spl_autoload_register(function (string $class) {
    foreach (['Allot\\Symfony\\' => dirname(__DIR__, 2) . '/src/', 'App\\' => __DIR__ . '/'] as $prefix => $folder) {
        $file = $folder . str_replace('\\', '/', substr($class, strlen($prefix))) . '.php';
        if (str_starts_with($class, $prefix) && is_file($file)) {
            require $file;
        }
    }
});
require_once __DIR__ . '/InstalledVersions.php';
return new App\Kernel('prod', false);
