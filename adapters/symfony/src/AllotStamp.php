<?php
// SPDX-License-Identifier: Apache-2.0
namespace Allot\Symfony;

use Symfony\Component\Messenger\Stamp\NonSendableStampInterface;

// Options of the task that a message becomes, such as its unique key or its partition key:
//   $bus->dispatch($message, [new AllotStamp(['unique_key' => 'order 1', 'unique_for' => '0s'])]);
// They are those of allot_submit (docs/sql-api.md), and `queue`.
final class AllotStamp implements NonSendableStampInterface
{
    public function __construct(public readonly array $options)
    {
    }
}
