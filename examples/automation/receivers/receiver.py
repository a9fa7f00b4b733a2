import base64, hmac, json, os, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

secret = base64.b64decode(os.environ.get("WEBHOOK_SECRET", "")[len("whsec_"):])
if len(secret) < 24: raise SystemExit("WEBHOOK_SECRET must be the secret of the webhook: whsec_…")

class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        id, at, sent = (self.headers[f"webhook-{name}"] or "" for name in ("id", "timestamp", "signature"))
        expected = base64.b64encode(hmac.digest(secret, f"{id}.{at}.".encode() + body, "sha256"))
        is_signed = any(hmac.compare_digest(one.encode(), b"v1," + expected) for one in sent.split(" "))
        is_genuine = is_signed and abs(time.time() - int(at)) <= 300
        if is_genuine: print(id, json.loads(body)["type"], flush=True)
        self.send_response(204 if is_genuine else 401)
        self.end_headers()

ThreadingHTTPServer(("", int(os.environ.get("PORT", 8000))), Receiver).serve_forever()
