<?php
// SPDX-License-Identifier: Apache-2.0
namespace App;

use Allot\Symfony\AllotBundle;
use Symfony\Bundle\FrameworkBundle\FrameworkBundle;
use Symfony\Component\Config\Loader\LoaderInterface;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\DependencyInjection\Reference;
use Symfony\Component\Messenger\Bridge\Doctrine\Transport\DoctrineTransportFactory;

final class Kernel extends \Symfony\Component\HttpKernel\Kernel
{
    public function registerBundles(): iterable
    {
        return [new FrameworkBundle(), new AllotBundle()];
    }

    public function getProjectDir(): string
    {
        return __DIR__;
    }

    public function getCacheDir(): string
    {
        return getenv('APP_WORK') . '/cache/' . (getenv('APP_FAILURES') ?: 'dead');
    }

    public function getLogDir(): string
    {
        return getenv('APP_WORK') . '/log.d';
    }

    public function registerContainerConfiguration(LoaderInterface $loader): void
    {
        $loader->load(function (ContainerBuilder $container) {
            $container->loadFromExtension('framework', ['secret' => 'not very secret', 'http_method_override' => false,
                'test' => false, 'serializer' => ['enabled' => true], 'messenger' => self::messenger()]);
            $container->loadFromExtension('allot', ['application' => 'shop', 'gateway' => getenv('APP_GATEWAY')]);
            $container->register('doctrine', Connections::class)->setPublic(true);
            $container->register(DoctrineTransportFactory::class)->setAutowired(true)
                ->setArguments([new Reference('doctrine')])
                ->addTag('messenger.transport_factory');
            $container->register(Strategy::class);
            $container->register('logger', Log::class);
            $container->register(Seen::class)->setAutowired(true)->setPublic(true)->setArguments(
                [new Reference('doctrine'), new Reference('messenger.transport.urgent')])->addTag('kernel.event_subscriber');
            foreach (glob(__DIR__ . '/Handler/*.php') as $file) {
                $container->register('App\\Handler\\' . basename($file, '.php'))->setAutowired(true)->setAutoconfigured(true)
                    ->setPublic(true)->addTag('messenger.message_handler');
            }
            foreach (self::transports() as $name => $transport) {
                $container->setAlias("test.$name", "messenger.transport.$name")->setPublic(true);
            }
            $container->setAlias('test.bus', 'messenger.default_bus')->setPublic(true);
            $container->setAlias(\Doctrine\Persistence\ConnectionRegistry::class, 'doctrine');
            $container->setAlias('test.signature', \Allot\Symfony\Signature::class)->setPublic(true);
        });
    }

    // A failed message is dead in Allot, or goes to the transport named by APP_FAILURES.
    private static function messenger(): array
    {
        $failures = getenv('APP_FAILURES') ?: 'dead';
        return ['transports' => self::transports(), 'failure_transport' => $failures,
                'routing' => [Message\Message::class => 'async', Message\Urgent::class => 'urgent']];
    }

    private static function transports(): array
    {
        $twice = ['max_retries' => 1, 'delay' => 0];
        return [
            'async' => ['dsn' => 'allot://default?queue=default', 'retry_strategy' => $twice],
            'urgent' => ['dsn' => 'allot://default?queue=other', 'retry_strategy' => ['max_retries' => 2, 'delay' => 0]],
            'json' => ['dsn' => 'allot://default', 'serializer' => 'messenger.transport.symfony_serializer',
                       'retry_strategy' => $twice],
            'own' => ['dsn' => 'allot://default', 'retry_strategy' => ['service' => Strategy::class]],
            'split' => ['dsn' => 'allot://split'],
            'mysqli' => ['dsn' => 'allot://mysqli'],
            'unlisted' => ['dsn' => 'allot://default'],
            'nowhere' => ['dsn' => 'allot://default?queue=nowhere'],
            'many' => ['dsn' => 'allot://default', 'retry_strategy' => ['max_retries' => 50, 'delay' => 0, 'multiplier' => 1]],
            'database' => ['dsn' => 'doctrine://default?auto_setup=0'],
            'table' => ['dsn' => 'doctrine://default?auto_setup=0&queue_name=failed'],
            'dead' => ['dsn' => 'allot-dead:'],
        ];
    }
}
