<?php
// SPDX-License-Identifier: Apache-2.0
namespace Allot\Laravel;

use Illuminate\Contracts\Container\Container;
use Illuminate\Queue\Connectors\ConnectorInterface;

// Creates the queue of a connection with 'driver' => 'allot' in config/queue.php.
final class AllotConnector implements ConnectorInterface
{
    public function __construct(private Container $app)
    {
    }

    public function connect(array $config)
    {
        if (!preg_match('/^[A-Za-z0-9._-]{1,32}$/', $config['application'] ?? '')) {
            throw new \InvalidArgumentException(
                "queue connection of the driver allot: 'application' must have 1 to 32 of A-Z a-z 0-9 . _ -");
        }
        if (!preg_match('/^[A-Za-z0-9_$-]{1,64}$/', $config['database'] ?? 'allot')) {
            throw new \InvalidArgumentException(
                "queue connection of the driver allot: 'database' is not the name of a database");
        }
        return new AllotQueue(
            $this->app['db']->connection($config['connection'] ?? null),
            $this->app[Signature::class],
            $this->app[CurrentTask::class],
            $config
        );
    }
}
