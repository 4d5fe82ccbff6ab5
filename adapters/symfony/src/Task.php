<?php
// SPDX-License-Identifier: Apache-2.0
namespace Allot\Symfony;

use Symfony\Component\Messenger\Exception\RecoverableExceptionInterface;

// A task in the framework's worker, and its events, which become its verdict (README.md has the
// table).
final class Task
{
    public const SKIPPED_MS = 10000;  // delay of a message skipped by a listener

    public readonly string $id;
    public readonly int $attempt;
    public ?string $takenBy = null;    // transport from which the framework's worker took it
    public bool $left = false;         // a listener decided not to handle it
    public bool $asked = false;        // the worker has requested the next message once
    public ?\Throwable $error = null;
    private bool $recoverable = false;
    private ?int $retryDelay = null;   // set when the framework sends it again
    private bool $moved = false;       // to another task, or to a failure transport

    public function __construct(array $line, public readonly Payload $payload)
    {
        $this->id = $line['id'];
        $this->attempt = $line['attempt'];
    }

    public function failed(\Throwable $error): void
    {
        $this->error = $error;
        $this->recoverable = self::isRecoverable($error);
    }

    public function retried(int $delay): void
    {
        $this->retryDelay = $delay;
    }

    public function moved(): void
    {
        $this->moved = true;
    }

    public function verdict(bool $acknowledged): array
    {
        if ($this->moved) {
            return Verdict::success();
        }
        if ($this->retryDelay !== null) {
            return $this->recoverable
                ? Verdict::snooze($this->retryDelay, get_class($this->cause()) . ': ' . $this->cause()->getMessage())
                : Verdict::retry($this->error, 'it was sent again', $this->retryDelay);
        }
        return $acknowledged ? Verdict::success() : Verdict::fail($this->error);
    }

    private function cause(): \Throwable
    {
        return Verdict::cause($this->error);
    }

    // Same rule as in the framework's SendFailedMessageForRetryListener: a single error is
    // sufficient.
    private static function isRecoverable(\Throwable $error): bool
    {
        if ($error instanceof RecoverableExceptionInterface) {
            return true;
        }
        $wrapped = match (true) {
            method_exists($error, 'getWrappedExceptions') => $error->getWrappedExceptions(),
            method_exists($error, 'getNestedExceptions') => $error->getNestedExceptions(),
            default => [],
        };
        return (bool) array_filter($wrapped, fn ($one) => $one instanceof RecoverableExceptionInterface);
    }
}
