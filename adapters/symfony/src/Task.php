<?php
// SPDX-License-Identifier: Apache-2.0
namespace Allot\Symfony;

use Symfony\Component\Messenger\Exception\RecoverableExceptionInterface;

// A task in the hands of the framework's worker, and what became of it. That is its verdict (README.md has the
// table).
final class Task
{
    public const SKIPPED_MS = 10000;  // until a message that a listener has left alone is looked at again

    public readonly string $id;
    public readonly int $attempt;
    public ?string $takenBy = null;    // the transport of the framework's worker that took it
    public bool $left = false;         // a listener said that it is not to be handled
    public bool $asked = false;        // whether it is done, once
    public ?\Throwable $error = null;
    private bool $recoverable = false;
    private ?int $retryDelay = null;   // the framework sent it again, with this delay
    private bool $moved = false;       // into another task, or into a failure transport

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

    // As the framework's SendFailedMessageForRetryListener sees it: one of the errors is enough.
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
