<?php
// SPDX-License-Identifier: Apache-2.0
namespace Allot\Symfony;

use Symfony\Component\Messenger\Exception\HandlerFailedException;

// Verdicts in the form of the pipe protocol. Delays are milliseconds.
final class Verdict
{
    public static function success(): array
    {
        return ['verdict' => 'success'];
    }

    /** @param int|null $delay null: by the retry policy of the type */
    public static function retry(?\Throwable $error, string $reason, ?int $delay = null): array
    {
        $pause = $delay === null ? [] : ['delay' => "{$delay}ms"];
        return ['verdict' => 'retry'] + self::why($error, $reason) + $pause;
    }

    public static function fail(?\Throwable $error, string $reason = 'it was rejected'): array
    {
        return ['verdict' => 'fail'] + self::why($error, $reason);
    }

    public static function snooze(int $delay, string $reason): array
    {
        return ['verdict' => 'snooze', 'delay' => "{$delay}ms", 'reason' => $reason];
    }

    public static function release(string $reason): array
    {
        return ['verdict' => 'release', 'reason' => $reason];
    }

    /** For a process that ends during a message: its fatal error, or null after exit(). */
    public static function ended(?array $error): array
    {
        if (!$error) {
            return ['verdict' => 'exception', 'class' => 'exit', 'message' => 'the handler ended its process'];
        }
        $message = strtok($error['message'], "\n") . " in {$error['file']} on line {$error['line']}";
        return ['verdict' => 'exception', 'class' => 'Fatal error', 'message' => $message,
                'trace' => "PHP Fatal error:  $message"];
    }

    /** The original error of a handler, without the wrapper of the bus. */
    public static function cause(\Throwable $error): \Throwable
    {
        while ($error instanceof HandlerFailedException && $error->getPrevious()) {
            $error = $error->getPrevious();
        }
        return $error;
    }

    // The trace in PHP's own format.
    private static function why(?\Throwable $error, string $reason): array
    {
        if ($error === null) {
            return ['reason' => $reason];
        }
        $cause = self::cause($error);
        return ['class' => get_class($cause), 'message' => $cause->getMessage(), 'trace' => "Fatal error: Uncaught $cause"];
    }
}
