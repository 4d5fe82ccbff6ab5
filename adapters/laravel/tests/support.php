<?php
// SPDX-License-Identifier: Apache-2.0
// Shared by the tests: the application in this process, the tables, waiting, and the count of
// passes.
namespace Tests;

use Illuminate\Support\Facades\DB;

function application(): \Illuminate\Foundation\Application
{
    static $app;
    if (!$app) {
        $app = require __DIR__ . '/app/bootstrap/app.php';
        $app->make(\Illuminate\Contracts\Console\Kernel::class)->bootstrap();
    }
    return $app;
}

function prepare(): void
{
    $root = new \PDO('mysql:unix_socket=' . getenv('APP_SOCKET'), 'root', '', [\PDO::ATTR_ERRMODE => \PDO::ERRMODE_EXCEPTION]);
    foreach (array_filter(array_map('trim', explode(";\n", file_get_contents(__DIR__ . '/schema.sql')))) as $statement) {
        $root->exec($statement);
    }
    application();
}

/** Waits until $condition returns a true value, and returns it. */
function eventually(callable $condition, string $what, int $seconds = 60)
{
    $deadline = microtime(true) + $seconds;
    while (!($result = $condition())) {
        if (microtime(true) > $deadline) {
            throw new \RuntimeException("not within $seconds s: $what");
        }
        usleep(20000);
    }
    return $result;
}

function equal($expected, $actual, string $what): void
{
    if ($expected != $actual) {
        throw new \RuntimeException("$what: expected " . json_encode($expected) . ', got ' . json_encode($actual));
    }
}

/** Events recorded by the jobs of this name, as "what@attempt"; failed() has no attempt. */
function seen(string $job): array
{
    return DB::table('seen')->where('job', $job)->orderBy('id')->get()
        ->map(fn ($row) => $row->what . ($row->what === 'failed' ? '' : "@{$row->attempt}"))->all();
}

function seen_of(string $job, string $what): ?object
{
    return DB::table('seen')->where('job', $job)->where('what', $what)->orderByDesc('id')->first();
}

function state(string $task): ?string
{
    DB::statement('CALL allot.allot_task(?, @state)', [$task]);
    return DB::selectOne('SELECT @state AS state')->state;
}

function dies(string $task): void
{
    eventually(fn () => state($task) === 'dead', "task $task is dead");
}

function ends(string $task): void
{
    eventually(fn () => state($task) === null, "task $task has ended");
}

/** Runs a command of Allot and returns its output. */
function allot(string ...$words): string
{
    return command([getenv('APP_BUILD') . '/bin/allot', ...$words]);
}

function artisan(string ...$words): string
{
    return command([getenv('APP_PHP'), getenv('APP_ARTISAN'), ...$words]);
}

function command(array $words): string
{
    [$status, $output] = outcome($words);
    if ($status !== 0) {
        throw new \RuntimeException(implode(' ', $words) . " ended with $status: $output");
    }
    return $output;
}

/** @return array{int, string} the exit code and the output of a command */
function outcome(array $words, array $environment = []): array
{
    $process = proc_open($words, [1 => ['pipe', 'w'], 2 => ['redirect', 1]], $pipes, null, $environment + getenv());
    $output = stream_get_contents($pipes[1]);
    return [proc_close($process), $output];
}

/** Runs the cases whose name contains the filter; ends the process. */
function run(array $cases): void
{
    prepare();
    $filter = $GLOBALS['argv'][1] ?? '';
    [$passed, $failed] = [0, 0];
    foreach ($cases as $name => $case) {
        if ($filter !== '' && !str_contains($name, $filter)) {
            continue;
        }
        $began = microtime(true);
        try {
            $case();
            $passed++;
            printf("ok      %5.1f s  %s\n", microtime(true) - $began, $name);
        } catch (\Throwable $error) {
            $failed++;
            printf("FAILED  %5.1f s  %s\n%s\n", microtime(true) - $began, $name, $error);
        }
    }
    echo 'Laravel ', application()->version(), ", PHP ", PHP_VERSION, ": $passed passed, $failed failed\n";
    exit($failed === 0 && $passed > 0 ? 0 : 1);
}

/** The lines of the daemon's log about a task. */
function log_of(string $task): string
{
    return implode("\n", preg_grep("/$task/", explode("\n", file_get_contents(getenv('APP_WORK') . '/log'))));
}
