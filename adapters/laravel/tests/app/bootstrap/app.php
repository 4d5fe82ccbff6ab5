<?php
// SPDX-License-Identifier: Apache-2.0
// A small application over the framework as Debian packages it, which has no vendor folder: its autoloaders
// are found by include_path.
require_once 'Illuminate/autoload.php';
spl_autoload_register(function (string $class) {
    foreach (['Allot\\Laravel\\' => dirname(__DIR__, 3) . '/src/', 'App\\' => dirname(__DIR__) . '/'] as $prefix => $folder) {
        $file = $folder . str_replace('\\', '/', substr($class, strlen($prefix))) . '.php';
        if (str_starts_with($class, $prefix) && is_file($file)) {
            require $file;
        }
    }
});
$work = getenv('APP_WORK');
foreach (['SERVICES', 'PACKAGES', 'CONFIG', 'ROUTES', 'EVENTS'] as $cache) {
    $_ENV["APP_{$cache}_CACHE"] = "$work/bootstrap/" . strtolower($cache) . '.php';
}
$app = new Illuminate\Foundation\Application(dirname(__DIR__));
if (method_exists($app, 'dontMergeFrameworkConfiguration')) {
    $app->dontMergeFrameworkConfiguration();  // Debian leaves those files out
}
$app->useStoragePath("$work/storage");
// What a deployment replaces; like all code it is loaded once, when the process starts.
$app->instance('release', is_file("$work/release.php") ? require "$work/release.php" : 0);
$app->singleton(Illuminate\Contracts\Console\Kernel::class, App\Kernel::class);
$app->singleton(Illuminate\Contracts\Debug\ExceptionHandler::class, Illuminate\Foundation\Exceptions\Handler::class);
return $app;
