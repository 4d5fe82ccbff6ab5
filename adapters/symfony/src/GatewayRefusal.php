<?php
// SPDX-License-Identifier: Apache-2.0
namespace Allot\Symfony;

// An answer of the gateway with an error; the message is its detail.
final class GatewayRefusal extends \RuntimeException
{
    public function __construct(public int $status, string $detail)
    {
        parent::__construct("Allot's gateway answers $status: $detail");
    }
}
