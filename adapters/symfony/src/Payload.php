<?php
// SPDX-License-Identifier: Apache-2.0
namespace Allot\Symfony;

// The payload of a task: an envelope encoded by the transport's serializer, and the transport's
// name. Stored as a line of JSON, followed by the unchanged body, which may have any bytes.
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

    /** Null: not signed with this application's secret. */
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
