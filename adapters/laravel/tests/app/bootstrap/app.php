<?php
// SPDX-License-Identifier: Apache-2.0
// A small application on Debian's package of the framework, which has no vendor folder:
// include_path finds its autoloaders.
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
// Replaced by a deployment; like all code it is loaded once, at the start of the process.
$app->instance('release', is_file("$work/release.php") ? require "$work/release.php" : 0);
$app->singleton(Illuminate\Contracts\Console\Kernel::class, App\Kernel::class);
$app->singleton(Illuminate\Contracts\Debug\ExceptionHandler::class, Illuminate\Foundation\Exceptions\Handler::class);
return $app;
