<?php
// SPDX-License-Identifier: Apache-2.0
namespace Allot\Symfony;

use Doctrine\Persistence\ConnectionRegistry;
use Psr\Container\ContainerInterface;
use Psr\EventDispatcher\EventDispatcherInterface;
use Symfony\Component\Messenger\Exception\InvalidArgumentException;
use Symfony\Component\Messenger\Transport\Serialization\SerializerInterface;
use Symfony\Component\Messenger\Transport\TransportFactoryInterface;
use Symfony\Component\Messenger\Transport\TransportInterface;

// Creates the transports of framework.messenger.transports for the DSNs
// allot://CONNECTION?queue=NAME and allot-dead:.
final class TransportFactory implements TransportFactoryInterface
{
    private const DEAD = 'allot-dead:';

    public function __construct(
        private ConnectionRegistry $doctrine,
        private Inbox $inbox,
        private Signature $signature,
        private DeadTasks $dead,
        private ContainerInterface $retryStrategies,
        private ContainerInterface $receivers,
        private EventDispatcherInterface $events,
        private string $database,
        private string $application
    ) {
    }

    public function supports(string $dsn, array $options): bool
    {
        return str_starts_with($dsn, 'allot://') || $dsn === self::DEAD;
    }

    public function createTransport(string $dsn, array $options, SerializerInterface $serializer): TransportInterface
    {
        if ($dsn === self::DEAD) {
            return new DeadTransport($this->dead, $this->signature, $this->receivers);
        }
        $url = parse_url($dsn) ?: [];
        parse_str($url['query'] ?? '', $query);
        $settings = array_diff_key($options, ['transport_name' => 1]) + $query;
        if (!isset($url['host']) || array_diff_key($settings, ['queue' => 1])) {
            throw new InvalidArgumentException("transport '{$options['transport_name']}': write " .
                'allot://CONNECTION?queue=NAME, with a connection of Doctrine and a queue of Allot');
        }
        $name = $options['transport_name'];
        $this->inbox->know($name);
        $connection = $this->doctrine->getConnection($url['host']);
        return new AllotTransport(
            $name,
            $settings['queue'] ?? 'default',
            new Submission($connection, $this->database, $this->application),
            $this->inbox,
            $this->signature,
            $serializer,
            $this->retryStrategies->has($name) ? $this->retryStrategies->get($name) : null,
            $this->events
        );
    }
}
