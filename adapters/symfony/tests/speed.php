<?php
// SPDX-License-Identifier: Apache-2.0
// Measures ALLOT_JOBS empty messages (10,000) with Allot, with the framework's Doctrine transport
// on the same server, and handled without a queue, with ALLOT_WORKERS processes each; the memory of
// the processes after a tenth of the messages and after all; the delay between dispatch and start.
// Prints the figures; required limits are cases.
namespace Tests;

use App\Message\Note;
use App\Message\Nothing;
use Symfony\Component\Messenger\Envelope;

require __DIR__ . '/support.php';

const TICKS = 100;

/** Processor seconds of a process and its descendants, including reaped ones. */
function cpu_of(int $pid): float
{
    $below = [];
    foreach (glob('/proc/[0-9]*/stat') as $file) {
        if (preg_match('/^(\d+) \(.*\) (.*)$/s', (string) @file_get_contents($file), $match)) {
            $fields = explode(' ', $match[2]);
            $below[(int) $fields[1]][] = (int) $match[1];
            $ticks[(int) $match[1]] = $fields[11] + $fields[12] + $fields[13] + $fields[14];
        }
    }
    $sum = 0;
    for ($pids = [$pid]; $pids; $pids = array_merge(...array_map(fn ($pid) => $below[$pid] ?? [], $pids))) {
        $sum += array_sum(array_map(fn ($pid) => $ticks[$pid] ?? 0, $pids));
    }
    return $sum / TICKS;
}

/** Largest resident memory of the processes that handle messages, in KiB. */
function memory(): int
{
    $most = 0;
    foreach (glob('/proc/[0-9]*/cmdline') as $file) {
        $words = (string) @file_get_contents($file);
        $status = (string) @file_get_contents(dirname($file) . '/status');
        $ours = str_contains($words, 'messenger:consume') &&
            str_contains((string) @file_get_contents(dirname($file) . '/environ'), 'APP_WORK=' . getenv('APP_WORK') . "\0");
        if ($ours && preg_match('/VmRSS:\s+(\d+)/', $status, $match)) {
            $most = max($most, (int) $match[1]);
        }
    }
    return $most;
}

function deadlocks(): int
{
    return (int) db()->fetchAssociative("SHOW GLOBAL STATUS LIKE 'Innodb_deadlocks'")['Value'];
}

/** Runs $work, which handles the messages; prints and returns messages per second. */
function measured(string $what, int $jobs, callable $work, callable $cpu): float
{
    [$began, $cpu_before, $deadlocks] = [microtime(true), $cpu(), deadlocks()];
    $work();
    $took = microtime(true) - $began;
    printf("%-28s %8.0f messages/s  %6.2f ms of processor for each  %d deadlocks\n", $what, $jobs / $took,
           1000 * ($cpu() - $cpu_before) / $jobs, deadlocks() - $deadlocks);
    return $jobs / $took;
}

/** @return resource a process without input or output */
function started(array $command)
{
    $null = ['file', '/dev/null', 'r+'];
    return proc_open($command, [$null, $null, $null], $pipes);
}

/** Runs messenger:consume until no message waits. A process ended by a deadlock is restarted. */
function consume_table(int $workers): void
{
    $command = [getenv('APP_PHP'), getenv('APP_CONSOLE'), 'messenger:consume', 'database', '--sleep=0'];
    [$all, $ended] = [[], 0];
    while (db()->fetchOne('SELECT COUNT(*) FROM messenger_messages WHERE delivered_at IS NULL') > 0) {
        $running = array_filter($all, fn ($process) => proc_get_status($process)['running']);
        $ended += count($all) - count($running);
        $all = [...$running, ...array_map(fn () => started($command), array_fill(0, $workers - count($running), 0))];
        usleep(20000);
    }
    array_map(fn ($process) => proc_terminate($process), $all);
    array_map(fn ($process) => proc_close($process), $all);
    printf("%s", $ended ? "$ended processes of the Doctrine transport ended by an error\n" : '');
}

function send_all(string $transport, int $jobs): void
{
    for ($sent = 0; $sent < $jobs; $sent += 500) {
        db()->transactional(function () use ($transport, $jobs, $sent) {
            for ($i = min(500, $jobs - $sent); $i > 0; $i--) {
                service("test.$transport")->send(new Envelope(new Nothing()));
            }
        });
    }
}

function all_handled(): void
{
    eventually(fn () => service('test.async')->getMessageCount() === 0, 'all', 600);
}

run([
    'Memory after all messages is at most 5 % above that after a tenth' => function () {
        $jobs = (int) (getenv('ALLOT_JOBS') ?: 10000);
        send_all('async', intdiv($jobs, 10));
        all_handled();
        $before = memory();
        send_all('async', $jobs - intdiv($jobs, 10));
        all_handled();
        printf("memory: %d KiB, then %d KiB\n", $before, memory());
        equal(true, $before > 0 && memory() <= 1.05 * $before, 'growth');
    },
    'Allot, the Doctrine transport and the ceiling: no deadlocks of Allot' => function () {
        $jobs = (int) (getenv('ALLOT_JOBS') ?: 10000);
        $workers = (int) (getenv('ALLOT_WORKERS') ?: 2);
        $share = max(1, intdiv($jobs, $workers));
        $jobs = $share * $workers;
        echo "$workers workers, $jobs messages\n";
        allot('queue', 'pause', 'default');
        send_all('async', $jobs);
        $before = deadlocks();
        $allot = measured('Allot', $jobs, function () {
            allot('queue', 'resume', 'default');
            all_handled();
        }, fn () => cpu_of((int) getenv('APP_ALLOTD')));
        $deadlocks = deadlocks() - $before;
        send_all('database', $jobs);
        $children = fn () => array_sum(array_map(fn ($time) => getrusage(1)["ru_$time.tv_sec"] +
            getrusage(1)["ru_$time.tv_usec"] / 1e6, ['utime', 'stime'])) + cpu_of((int) getenv('APP_ALLOTD'));
        $doctrine = measured('the Doctrine transport', $jobs, fn () => consume_table($workers), $children);
        $ceiling = measured('without a queue', $jobs, function () use ($workers, $share) {
            $command = [getenv('APP_PHP'), __DIR__ . '/ceiling.php', (string) $share];
            $all = array_map(fn () => started($command), array_fill(0, $workers, 0));
            equal(0, array_sum(array_map(fn ($process) => proc_close($process), $all)), 'errors');
        }, $children);
        printf("Allot: %.1f times the Doctrine transport, %.0f %% of the ceiling\n",
               $allot / $doctrine, 100 * $allot / $ceiling);
        equal(0, $deadlocks, 'deadlocks');
    },
    'A message starts soon after its dispatch' => function () {
        $waited = [];
        for ($i = 0; $i < 200; $i++) {
            $at = microtime(true);
            dispatch(new Note("start $i"));
            eventually(fn () => seen("start $i"), 'it was handled');
            $began = db()->fetchOne('SELECT UNIX_TIMESTAMP(at) FROM seen WHERE name = ?', ["start $i"]);
            $waited[] = 1000 * ($began - $at);
        }
        sort($waited);
        printf("start after dispatch: p50 %.1f ms, p99 %.1f ms\n", $waited[100], $waited[198]);
    },
]);
