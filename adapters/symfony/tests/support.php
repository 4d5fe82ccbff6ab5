<?php
// SPDX-License-Identifier: Apache-2.0
// Shared by the tests: the application in this process, the tables, waiting, and the count of
// passes.
namespace Tests;

use Doctrine\DBAL\Connection;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Stamp\TransportMessageIdStamp;

function application(): \App\Kernel
{
    static $kernel;
    if (!$kernel) {
        $kernel = require __DIR__ . '/app/bootstrap.php';
        $kernel->boot();
    }
    return $kernel;
}

function service(string $name): object
{
    return application()->getContainer()->get($name);
}

function db(string $name = 'default'): Connection
{
    return service('doctrine')->getConnection($name);
}

function prepare(): void
{
    $root = new \PDO('mysql:unix_socket=' . getenv('APP_SOCKET'), 'root', '', [\PDO::ATTR_ERRMODE => \PDO::ERRMODE_EXCEPTION]);
    foreach (array_filter(array_map('trim', explode(";\n", file_get_contents(__DIR__ . '/schema.sql')))) as $statement) {
        $root->exec($statement);
    }
    application();
}

/** Dispatches through the bus, which follows the routing. */
function dispatch(object $message, array $stamps = []): string
{
    $sent = service('test.bus')->dispatch($message, $stamps);
    return $sent->last(TransportMessageIdStamp::class)->getId();
}

/** Sends through the transport of this name. */
function send(string $transport, object $message, array $stamps = []): string
{
    return service("test.$transport")->send(new Envelope($message, $stamps))->last(TransportMessageIdStamp::class)->getId();
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

function has(string $part, string $whole): void
{
    if (!str_contains($whole, $part)) {
        throw new \RuntimeException("no '$part' in $whole");
    }
}

/** Events recorded for the messages of this name, as "what@attempt"; 'failed' is final. */
function seen(string $name): array
{
    return array_map(fn ($row) => $row['what'] . ($row['what'] === 'failed' ? '' : "@{$row['attempt']}"),
                     db()->fetchAllAssociative('SELECT * FROM seen WHERE name = ? ORDER BY id', [$name]));
}

function seen_of(string $name, string $what): ?array
{
    return db()->fetchAssociative('SELECT * FROM seen WHERE name = ? AND what = ? ORDER BY id DESC', [$name, $what]) ?: null;
}

function state(string $task): ?string
{
    try {
        db()->executeStatement('CALL allot.allot_task(?, @state)', [$task]);
    } catch (\Doctrine\DBAL\Exception\DeadlockException $error) {  // with the task's worker
        return 'waiting';
    }
    return db()->fetchOne('SELECT @state');
}

function dies(string $task): string
{
    eventually(fn () => state($task) === 'dead', "task $task is dead");
    return $task;
}

function ends(string $task): string
{
    eventually(fn () => state($task) === null, "task $task has ended");
    return $task;
}

/** The output of allot task show contains each text. */
function shows(string $task, string ...$texts): void
{
    $shown = allot('task', 'show', $task);
    foreach ($texts as $text) {
        has($text, $shown);
    }
}

/** Runs a command of Allot and returns its output. */
function allot(string ...$words): string
{
    return command([getenv('APP_BUILD') . '/bin/allot', ...$words]);
}

function console(string ...$words): string
{
    return command([getenv('APP_PHP'), getenv('APP_CONSOLE'), ...$words]);
}

function command(array $words, int $expected = 0): string
{
    $process = proc_open($words, [1 => ['pipe', 'w'], 2 => ['redirect', 1]], $pipes);
    $output = stream_get_contents($pipes[1]);
    $status = proc_close($process);
    if ($status !== $expected) {
        throw new \RuntimeException(implode(' ', $words) . " ended with $status: $output");
    }
    return $output;
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
    echo 'Symfony ', \App\Kernel::VERSION, ', PHP ', PHP_VERSION, ": $passed passed, $failed failed\n";
    exit($failed === 0 && $passed > 0 ? 0 : 1);
}

/** The lines of the daemon's log about a task. */
function log_of(string $task): string
{
    return implode("\n", preg_grep("/$task/", explode("\n", file_get_contents(getenv('APP_WORK') . '/log'))));
}
