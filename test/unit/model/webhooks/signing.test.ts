import { expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import {
  createWebhookSecret,
  isWebhookSecret,
  signedHeaders,
} from "../../../../src/model/webhooks/signing.ts";

const now = () => Math.floor(Date.now() / 1000);

test("signedHeaders() signs as the package of Standard Webhooks checks, with each secret", () => {
  const secrets = [createWebhookSecret(), createWebhookSecret()];
  const body = JSON.stringify({ type: "enter", data: { name: "Depöt \u{1F68C}" } });
  const headers = signedHeaders({ id: "01KM_1", timestampSeconds: now(), body }, secrets);
  for (const secret of secrets) {
    expect(isWebhookSecret(secret)).toBe(true);
    expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
    expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow();
    expect(() => new Webhook(secret).verify(body, { ...headers, "webhook-id": "01KM_2" })).toThrow();
  }
  expect(() => new Webhook(createWebhookSecret()).verify(body, headers)).toThrow();
});

test("signedHeaders() gives the signature of the specification's example", () => {
  const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  const message = {
    id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
    timestampSeconds: 1614265330,
    body: '{"test": 2432232314}',
  };
  const { "webhook-signature": signature } = signedHeaders(message, [secret]);
  expect(signature).toBe("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
});
