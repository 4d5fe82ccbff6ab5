<?php
// SPDX-License-Identifier: Apache-2.0
namespace Allot\Symfony;

// What the payload of a task has: an envelope as the transport's serializer encodes it, and the name of
// that transport. A line of JSON, then the body as it is, because a body may be any bytes.
final class Payload
{
    public function __construct(public readonly string $transport, public readonly array $encoded)
    {
    }

    public function signed(Signature $signature): string
    {
        $head = ['transport' => $this->transport, 'headers' => (object) ($this->encoded['headers'] ?? [])];
        return $signature->sign(json_encode($head, JSON_THROW_ON_ERROR) . "\n" . $this->encoded['body']);
    }

    /** Null: it is not signed with this application's secret. */
    public static function read(string $payload, Signature $signature): ?self
    {
        $content = $signature->verified($payload);
        if ($content === null) {
            return null;
        }
        [$head, $body] = explode("\n", $content, 2) + [1 => ''];
        $fields = json_decode($head, true);
        return new self((string) ($fields['transport'] ?? ''), ['body' => $body, 'headers' => $fields['headers'] ?? []]);
    }
}
