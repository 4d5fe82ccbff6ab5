<?php
// SPDX-License-Identifier: Apache-2.0
namespace Allot\Laravel;

// Verdicts in the form of the pipe protocol.
final class Verdict
{
    public static function success(): array
    {
        return ['verdict' => 'success'];
    }

    /** @param int|null $delay seconds; null: by the retry policy of the type */
    public static function retry(?\Throwable $error, string $reason, ?int $delay): array
    {
        $pause = $delay === null ? [] : ['delay' => "{$delay}s"];
        return ['verdict' => 'retry'] + self::why($error, $reason) + $pause;
    }

    public static function fail(?\Throwable $error, string $reason = 'the job failed itself'): array
    {
        return ['verdict' => 'fail'] + self::why($error, $reason);
    }

    public static function snooze(int $delay, string $reason): array
    {
        return ['verdict' => 'snooze', 'delay' => "{$delay}s", 'reason' => $reason];
    }

    public static function release(string $reason): array
    {
        return ['verdict' => 'release', 'reason' => $reason];
    }

    /** For a process that ends during a job: its fatal error, or null after exit(). */
    public static function ended(?array $error): array
    {
        if (!$error) {
            return ['verdict' => 'exception', 'class' => 'exit', 'message' => 'the job ended its process'];
        }
        $message = strtok($error['message'], "\n") . " in {$error['file']} on line {$error['line']}";
        return ['verdict' => 'exception', 'class' => 'Fatal error', 'message' => $message,
                'trace' => "PHP Fatal error:  $message"];
    }

    // The trace in PHP's own format.
    private static function why(?\Throwable $error, string $reason): array
    {
        return $error === null ? ['reason' => $reason]
            : ['class' => get_class($error), 'message' => $error->getMessage(), 'trace' => "Fatal error: Uncaught $error"];
    }
}
