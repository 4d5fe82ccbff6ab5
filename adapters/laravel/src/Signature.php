<?php
// SPDX-License-Identifier: Apache-2.0
namespace Allot\Laravel;

// S82: signs payloads with the application's key. A serialized job is code for the process that
// unserializes it, so a payload counts only if an application with this key wrote it.
final class Signature
{
    private const MARK = 'allot-hmac-sha256 ';
    private const LENGTH = 64;  // hexadecimal digits of the HMAC

    /** @var string[] The first key signs, all keys verify. */
    private array $keys;

    public function __construct(array $applicationKeys)
    {
        $this->keys = array_map([self::class, 'derived'], array_values(array_filter($applicationKeys)));
        if (!$this->keys) {
            throw new \RuntimeException('the application has no key (app.key); run php artisan key:generate');
        }
    }

    public function sign(string $json): string
    {
        return self::MARK . hash_hmac('sha256', $json, $this->keys[0]) . "\n" . $json;
    }

    /** The JSON of a signed payload; null: no key of this application has signed it. */
    public function verified(string $payload): ?string
    {
        $begin = strlen(self::MARK) + self::LENGTH + 1;
        if (!str_starts_with($payload, self::MARK) || strlen($payload) < $begin || $payload[$begin - 1] !== "\n") {
            return null;
        }
        $given = substr($payload, strlen(self::MARK), self::LENGTH);
        $json = substr($payload, $begin);
        foreach ($this->keys as $key) {
            if (hash_equals(hash_hmac('sha256', $json, $key), $given)) {
                return $json;
            }
        }
        return null;
    }

    // A derived key, because app.key also encrypts and signs cookies.
    private static function derived(string $key): string
    {
        $secret = str_starts_with($key, 'base64:') ? base64_decode(substr($key, 7)) : $key;
        return hash_hmac('sha256', 'allot queue payload', $secret, true);
    }
}
