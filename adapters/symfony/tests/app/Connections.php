<?php
// SPDX-License-Identifier: Apache-2.0
namespace App;

use Doctrine\DBAL\Connection;
use Doctrine\DBAL\Connections\PrimaryReadReplicaConnection;
use Doctrine\DBAL\DriverManager;
use Doctrine\Persistence\ConnectionRegistry;

// The service `doctrine`, which DoctrineBundle provides in an application.
final class Connections implements ConnectionRegistry
{
    /** @var array<string, Connection> */
    private array $open = [];

    public function getDefaultConnectionName(): string
    {
        return 'default';
    }

    public function getConnection($name = null): Connection
    {
        return $this->open[$name ??= 'default'] ??= DriverManager::getConnection(self::parameters($name));
    }

    public function getConnections(): array
    {
        return array_map(fn ($name) => $this->getConnection($name), $this->getConnectionNames());
    }

    public function getConnectionNames(): array
    {
        return ['default' => 'default', 'other' => 'other', 'split' => 'split', 'mysqli' => 'mysqli'];
    }

    private static function parameters(string $name): array
    {
        $server = ['driver' => 'pdo_mysql', 'unix_socket' => getenv('APP_SOCKET'), 'user' => 'shop', 'password' => 'secret',
                   'dbname' => 'shop', 'charset' => 'utf8mb4', 'serverVersion' => '10.11.0-MariaDB'];
        return match ($name) {
            'default', 'other' => $server,
            'mysqli' => ['driver' => 'mysqli'] + $server,
            'split' => $server + ['wrapperClass' => PrimaryReadReplicaConnection::class, 'primary' => $server,
                                  'replica' => [['user' => 'shop_reader'] + $server], 'keepReplica' => true],
            default => throw new \InvalidArgumentException("no connection '$name'"),
        };
    }
}
