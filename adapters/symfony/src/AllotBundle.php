<?php
// SPDX-License-Identifier: Apache-2.0
namespace Allot\Symfony;

use Allot\Symfony\DependencyInjection\AllotExtension;
use Symfony\Component\DependencyInjection\Compiler\CompilerPassInterface;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\DependencyInjection\Extension\ExtensionInterface;
use Symfony\Component\HttpKernel\Bundle\Bundle;

final class AllotBundle extends Bundle implements CompilerPassInterface
{
    private const FAILURES = 'messenger.failure.send_failed_message_to_failure_transport_listener';

    public function build(ContainerBuilder $container): void
    {
        $container->addCompilerPass($this);
    }

    // The failure transports by name, in the form passed to the framework's listener.
    public function process(ContainerBuilder $container): void
    {
        if ($container->hasDefinition(self::FAILURES)) {
            $container->getDefinition(WorkerSubscriber::class)
                ->setArgument('$failureTransports', $container->getDefinition(self::FAILURES)->getArgument(0));
        }
    }

    public function getContainerExtension(): ?ExtensionInterface
    {
        return $this->extension ??= new AllotExtension();
    }
}
