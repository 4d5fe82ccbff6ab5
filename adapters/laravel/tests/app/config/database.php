<?php
// SPDX-License-Identifier: Apache-2.0
$server = [
    'driver' => 'mysql', 'unix_socket' => getenv('APP_SOCKET'), 'host' => 'localhost', 'database' => 'shop',
    'username' => getenv('APP_USER') ?: 'shop', 'password' => getenv('APP_PASSWORD') ?: 'secret',
    'charset' => 'utf8mb4', 'collation' => 'utf8mb4_unicode_ci', 'prefix' => '', 'strict' => true,
];
return [
    'default' => 'mysql',
    'connections' => [
        'mysql' => $server,
        'other' => $server,
        'split' => ['read' => ['username' => 'shop_reader'], 'write' => ['username' => 'shop'], 'sticky' => false] + $server,
    ],
    'migrations' => 'migrations',
];
