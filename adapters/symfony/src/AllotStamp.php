<?php
// SPDX-License-Identifier: Apache-2.0
namespace Allot\Symfony;

use Symfony\Component\Messenger\Stamp\NonSendableStampInterface;

// Options for the task of a message, such as its unique key or its partition key:
//   $bus->dispatch($message, [new AllotStamp(['unique_key' => 'order 1', 'unique_for' => '0s'])]);
// Accepts the options of allot_submit (docs/sql-api.md), and `queue`.
final class AllotStamp implements NonSendableStampInterface
{
    public function __construct(public readonly array $options)
    {
    }
}
