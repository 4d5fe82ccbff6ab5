<?php
// SPDX-License-Identifier: Apache-2.0
namespace Allot\Symfony;

use Symfony\Component\Messenger\Transport\Receiver\KeepaliveReceiverInterface;

// What a transport is for `messenger:consume --keepalive`, which Symfony has since 7.2.
if (interface_exists(KeepaliveReceiverInterface::class)) {
    interface Keepalive extends KeepaliveReceiverInterface
    {
    }
} else {
    interface Keepalive
    {
    }
}
