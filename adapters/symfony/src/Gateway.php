<?php
// SPDX-License-Identifier: Apache-2.0
namespace Allot\Symfony;

// Client of Allot's gateway (docs/http.md), over its Unix socket or a URL with a token.
final class Gateway
{
    private const TIMEOUT_SECONDS = 30;

    public function __construct(private string $address, private ?string $token)
    {
    }

    public function get(string $path): string
    {
        return $this->ask('GET', $path);
    }

    public function list(string $path): array
    {
        return json_decode($this->get($path), true, 64, JSON_THROW_ON_ERROR);
    }

    /** False: the task does not exist, or its state does not allow this. */
    public function post(string $path): bool
    {
        try {
            $this->ask('POST', $path, '{}');
            return true;
        } catch (GatewayRefusal $refusal) {
            return in_array($refusal->status, [404, 409], true) ? false : throw $refusal;
        }
    }

    private function ask(string $method, string $path, string $body = ''): string
    {
        [$stream, $host, $base] = $this->connect();
        $request = "$method $base$path HTTP/1.1\r\nHost: $host\r\nConnection: close\r\n"
            . ($this->token ? "Authorization: Bearer {$this->token}\r\n" : '')
            . ($body === '' ? '' : "Content-Type: application/json\r\nContent-Length: " . strlen($body) . "\r\n")
            . "\r\n$body";
        fwrite($stream, $request);
        $answer = stream_get_contents($stream);
        if (!preg_match('/^HTTP\/1\.1 (\d{3}) .*?\r\n\r\n/s', $answer, $head)) {
            throw new \RuntimeException("Allot's gateway at {$this->address} gave no answer to $method $path");
        }
        $content = substr($answer, strlen($head[0]));
        if (stripos($head[0], "\r\nTransfer-Encoding: chunked") !== false) {
            $content = self::dechunked($content);
        }
        if ($head[1] >= 300) {
            throw new GatewayRefusal((int) $head[1], json_decode($content, true)['detail'] ?? $content);
        }
        return $content;
    }

    private function connect(): array
    {
        $url = str_starts_with($this->address, '/') ? [] : parse_url($this->address);
        $secure = ($url['scheme'] ?? '') === 'https';
        $to = $url ? ($secure ? 'ssl' : 'tcp') . "://{$url['host']}:" . ($url['port'] ?? ($secure ? 443 : 80))
            : "unix://{$this->address}";
        $stream = @stream_socket_client($to, $code, $reason, self::TIMEOUT_SECONDS);
        if (!$stream) {
            throw new \RuntimeException("Allot's gateway at {$this->address}: $reason");
        }
        stream_set_timeout($stream, self::TIMEOUT_SECONDS);
        $host = $url ? $url['host'] . (isset($url['port']) ? ":{$url['port']}" : '') : 'localhost';
        return [$stream, $host, rtrim($url['path'] ?? '', '/') . '/api/v1'];
    }

    private static function dechunked(string $content): string
    {
        [$text, $at] = ['', 0];
        while (($size = hexdec(strtok(substr($content, $at, 20), "\r;"))) > 0) {
            $at = strpos($content, "\r\n", $at) + 2;
            $text .= substr($content, $at, $size);
            $at += $size + 2;
        }
        return $text;
    }
}
