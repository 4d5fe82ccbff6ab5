<?php
// SPDX-License-Identifier: Apache-2.0
namespace App\Handler;

use App\Message\Acts;
use Doctrine\Persistence\ConnectionRegistry;
use Symfony\Component\Messenger\Exception\RecoverableMessageHandlingException;
use Symfony\Component\Messenger\Exception\UnrecoverableMessageHandlingException;

final class ActsHandler
{
    public function __construct(private \App\Seen $seen, private ConnectionRegistry $doctrine)
    {
    }

    public function __invoke(Acts $message): void
    {
        $this->seen->note($message->name, 'ran', $this->seen->transport);
        if ($message->until === 0 || $this->seen->attempt < $message->until) {
            $this->{$message->act}($message);
        }
    }

    private function isLeft(): void
    {
    }

    private function throws(Acts $message): void
    {
        throw new \DomainException("no such order: {$message->name}");
    }

    // The test process knows the pid of allotd; its programs do not.
    private function throwsInAllotd(): void
    {
        if (!getenv('APP_ALLOTD')) {
            throw new \DomainException('not here');
        }
    }

    private function cannotRecover(): void
    {
        throw new UnrecoverableMessageHandlingException('not to be retried');
    }

    // Attempts are not counted, so a file marks the last one.
    private function recovers(Acts $message): void
    {
        $file = getenv('APP_WORK') . "/{$message->name}";
        file_put_contents($file, '.', FILE_APPEND);
        if (strlen(file_get_contents($file)) < 4) {
            throw new RecoverableMessageHandlingException('a little later');
        }
    }

    // A listener then sends it through another transport.
    private function movesItself(): void
    {
        throw new UnrecoverableMessageHandlingException('it moves');
    }

    private function exits(): void
    {
        exit(3);
    }

    private function runsIntoAFatalError(): void
    {
        eval('class Twice {} class Twice {}');
    }

    private function usesUpItsMemory(): void
    {
        ini_set('memory_limit', '40M');
        str_repeat('x', 50 << 20);
    }

    private function prints(Acts $message): void
    {
        echo "{\"kind\": \"verdict\"}\nprinted by {$message->name}\n";
        fwrite(STDERR, "and an error\n");
    }

    private function kills(): void
    {
        posix_kill(getmypid(), SIGKILL);
    }

    private function sleeps(): void
    {
        sleep(60);
    }

    private function worksForSixSeconds(): void
    {
        for ($end = microtime(true) + 6; microtime(true) < $end;) {
            usleep(100000);
        }
    }

    private function losesItsConnection(): void
    {
        $connection = $this->doctrine->getConnection('default');
        $id = $connection->fetchOne('SELECT CONNECTION_ID()');
        $this->doctrine->getConnection('other')->executeStatement("KILL $id");
        $connection->fetchOne('SELECT 1');
    }

    private function leavesAChild(): void
    {
        $null = ['file', '/dev/null', 'r+'];
        proc_open(['/bin/sleep', '3'], [$null, $null, $null], $pipes);
    }
}
