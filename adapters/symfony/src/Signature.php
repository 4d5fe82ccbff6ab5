<?php
// SPDX-License-Identifier: Apache-2.0
namespace Allot\Symfony;

// S82: signs payloads with the application's secret. An encoded envelope names the classes to
// instantiate, so a payload is valid only if an application with this secret wrote it.
final class Signature
{
    private const MARK = 'allot-hmac-sha256 ';
    private const LENGTH = 64;  // hexadecimal digits of the HMAC

    /** @var string[] The first key signs, all keys verify. */
    private array $keys;

    public function __construct(?string $secret, array $previousSecrets)
    {
        if ((string) $secret === '') {
            throw new \LogicException(
                'the application has no secret; set APP_SECRET and framework.secret, or allot.secret');
        }
        // A derived key, because the secret also signs cookies and URLs.
        $this->keys = array_map(fn ($one) => hash_hmac('sha256', 'allot queue payload', $one, true),
                                [$secret, ...array_filter($previousSecrets)]);
    }

    public function sign(string $content): string
    {
        return self::MARK . hash_hmac('sha256', $content, $this->keys[0]) . "\n" . $content;
    }

    /** The signed text; null: not signed with a secret of this application. */
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
