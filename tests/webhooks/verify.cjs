// Verifies one message: node verify.cjs SECRET ID TIMESTAMP SIGNATURE BODY. Exits with 1 if it is not genuine.
const { Webhook } = require("standardwebhooks");

const [secret, id, timestamp, signature, body] = process.argv.slice(2);
try {
  new Webhook(secret).verify(body, {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signature,
  });
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
