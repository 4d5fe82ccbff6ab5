<?php
// SPDX-License-Identifier: Apache-2.0
namespace App;

use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Retry\RetryStrategyInterface;
use Symfony\Component\Messenger\Stamp\RedeliveryStamp;

// Decides by the error: one retry after a DomainException.
final class Strategy implements RetryStrategyInterface
{
    public function isRetryable(Envelope $message, ?\Throwable $throwable = null): bool
    {
        return $throwable?->getPrevious() instanceof \DomainException &&
            RedeliveryStamp::getRetryCountFromEnvelope($message) < 1;
    }

    public function getWaitingTime(Envelope $message, ?\Throwable $throwable = null): int
    {
        return 0;
    }
}
