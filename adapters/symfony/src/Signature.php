<?php
// SPDX-License-Identifier: Apache-2.0
namespace Allot\Symfony;

// S82: signs payloads with the application's secret. An encoded envelope names the classes that are
// made from it, so a payload counts only if an application with this secret wrote it.
final class Signature
{
    private const MARK = 'allot-hmac-sha256 ';
    private const LENGTH = 64;  // of the HMAC, in hexadecimal digits

    /** @var string[] The first one signs, all of them verify. */
    private array $keys;

    public function __construct(?string $secret, array $previousSecrets)
    {
        if ((string) $secret === '') {
            throw new \LogicException(
                'the application has no secret; set APP_SECRET and framework.secret, or allot.secret');
        }
        // A key of its own, because the secret also signs cookies and URLs.
        $this->keys = array_map(fn ($one) => hash_hmac('sha256', 'allot queue payload', $one, true),
                                [$secret, ...array_filter($previousSecrets)]);
    }

    public function sign(string $content): string
    {
        return self::MARK . hash_hmac('sha256', $content, $this->keys[0]) . "\n" . $content;
    }

    /** What was signed; null: no secret of this application has signed it. */
    public function verified(string $payload): ?string
    {
        $begin = strlen(self::MARK) + self::LENGTH + 1;
        if (!str_starts_with($payload, self::MARK) || strlen($payload) < $begin || $payload[$begin - 1] !== "\n") {
            return null;
        }
        $given = substr($payload, strlen(self::MARK), self::LENGTH);
        $content = substr($payload, $begin);
        foreach ($this->keys as $key) {
            if (hash_equals(hash_hmac('sha256', $content, $key), $given)) {
                return $content;
            }
        }
        return null;
    }
}
