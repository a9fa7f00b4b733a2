<?php
http_response_code(500);
$secret = base64_decode(substr(getenv('WEBHOOK_SECRET') ?: '', strlen('whsec_')));
if (strlen($secret) < 24) throw new Exception('WEBHOOK_SECRET must be the secret of the webhook: whsec_…');

$body = file_get_contents('php://input');
[$id, $at, $sent] = array_map(fn ($name) => $_SERVER["HTTP_WEBHOOK_$name"] ?? '', ['ID', 'TIMESTAMP', 'SIGNATURE']);
$expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$at.$body", $secret, true));
$matching = array_filter(explode(' ', $sent), fn ($one) => hash_equals($expected, $one));
if (!$matching || abs(time() - (int) $at) > 300) {
    http_response_code(401);
    exit;
}
error_log("$id " . json_decode($body)->type);
http_response_code(204);
