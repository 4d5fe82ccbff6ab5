<?php
// SPDX-License-Identifier: Apache-2.0
namespace Allot\Symfony;

use Symfony\Component\Messenger\Transport\Receiver\KeepaliveReceiverInterface;

// Interface of transports that support `messenger:consume --keepalive`, since Symfony 7.2.
if (interface_exists(KeepaliveReceiverInterface::class)) {
    interface Keepalive extends KeepaliveReceiverInterface
    {
    }
} else {
    interface Keepalive
    {
    }
}
