<?php
// SPDX-License-Identifier: Apache-2.0
namespace Allot\Symfony\DependencyInjection;

use Allot\Symfony\DeadTasks;
use Allot\Symfony\Inbox;
use Allot\Symfony\Signature;
use Allot\Symfony\TransportFactory;
use Allot\Symfony\WorkerSubscriber;
use Symfony\Component\Config\Definition\Builder\TreeBuilder;
use Symfony\Component\Config\Definition\ConfigurationInterface;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\DependencyInjection\Reference;
use Symfony\Component\DependencyInjection\Extension\Extension;

// Loads the section `allot` of the configuration, and the services.
final class AllotExtension extends Extension implements ConfigurationInterface
{
    public function getAlias(): string
    {
        return 'allot';
    }

    public function getConfiguration(array $config, ContainerBuilder $container): ConfigurationInterface
    {
        return $this;
    }

    public function getConfigTreeBuilder(): TreeBuilder
    {
        $tree = new TreeBuilder('allot');
        $tree->getRootNode()->children()
            ->scalarNode('application')->isRequired()
                ->info('types of tasks begin with it; another one for each application')
                ->validate()->ifTrue(fn ($name) => !preg_match('/^[A-Za-z0-9._-]{1,32}$/', $name))
                    ->thenInvalid('%s: must have 1 to 32 of A-Z a-z 0-9 . _ -')->end()->end()
            ->scalarNode('database')->defaultValue('allot')
                ->info("Allot's database on the server of the connection")
                ->validate()->ifTrue(fn ($name) => !preg_match('/^[A-Za-z0-9_$-]{1,64}$/', $name))
                    ->thenInvalid('%s is not the name of a database')->end()->end()
            ->scalarNode('gateway')->defaultNull()->info('socket or URL, for the transport allot-dead:')->end()
            ->scalarNode('token')->defaultNull()->info('of the gateway, with a URL')->end()
            ->scalarNode('secret')->defaultValue('%kernel.secret%')->info('signs payloads')->end()
            ->arrayNode('previous_secrets')->scalarPrototype()->end()->info('verify payloads, too')->end()
        ->end();
        return $tree;
    }

    public function load(array $configs, ContainerBuilder $container): void
    {
        $config = $this->processConfiguration($this, $configs);
        $container->register(Signature::class)->setArguments([$config['secret'], $config['previous_secrets']]);
        $container->register(DeadTasks::class)
            ->setArguments([$config['gateway'], $config['token'], $config['application']]);
        $container->register(Inbox::class)->setArguments(
            [new Reference(Signature::class), new Reference('cache.messenger.restart_workers_signal')]);
        $container->register(WorkerSubscriber::class)
            ->setArguments([new Reference(Inbox::class), new Reference(DeadTasks::class)])
            ->addTag('kernel.event_subscriber');
        $container->register(TransportFactory::class)->setArguments([
            new Reference('doctrine'), new Reference(Inbox::class), new Reference(Signature::class),
            new Reference(DeadTasks::class), new Reference('messenger.retry_strategy_locator'),
            new Reference('messenger.receiver_locator'), new Reference('event_dispatcher'), $config['database'], $config['application'],
        ])->addTag('messenger.transport_factory');
    }
}
