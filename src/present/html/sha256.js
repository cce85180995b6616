// SHA-256 twice: written out here, and by WebCrypto where the browser has it. Everything is hashed by both, and they must
// agree; where there is no WebCrypto the one written out here has to do.

const ROUND_CONSTANTS = (() => {
  // The first 32 bits of the fractions of the cube roots of the first 64 primes; square roots give the first state. In
  // integers: what Math.cbrt answers is not the same everywhere.
  const primes = [];
  for (let n = 2; primes.length < 64; n++) if (primes.every((prime) => n % prime)) primes.push(n);
  const fraction = (prime, power) => {
    const scaled = BigInt(prime) << (32n * power);
    let low = 0n;
    for (let bit = 1n << 36n; bit; bit >>= 1n) if ((low + bit) ** power <= scaled) low += bit;
    return Number(low & 0xffffffffn);
  };
  return { k: Uint32Array.from(primes, (p) => fraction(p, 3n)), state: primes.slice(0, 8).map((p) => fraction(p, 2n)) };
})();

// The 64 hex digits of some bytes' SHA-256.
function sha256(bytes) {
  const { k } = ROUND_CONSTANTS;
  const state = Uint32Array.from(ROUND_CONSTANTS.state);
  const w = new Uint32Array(64);
  const block = (view, at) => {
    for (let t = 0; t < 16; t++) w[t] = view.getUint32(at + 4 * t);
    for (let t = 16; t < 64; t++) {
      const x = w[t - 15],
        y = w[t - 2];
      const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
      const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
      w[t] = (w[t - 16] + s0 + w[t - 7] + s1) | 0;
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let t = 0; t < 64; t++) {
      const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
      const one = (h + s1 + ((e & f) ^ (~e & g)) + k[t] + w[t]) | 0;
      const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
      const two = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + one) | 0;
      d = c;
      c = b;
      b = a;
      a = (one + two) | 0;
    }
    [a, b, c, d, e, f, g, h].forEach((word, at) => {
      state[at] += word;
    });
  };
  const whole = bytes.length - (bytes.length % 64);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at < whole; at += 64) block(view, at);
  const rest = bytes.length - whole;
  const tail = new Uint8Array(rest < 56 ? 64 : 128);
  tail.set(bytes.subarray(whole));
  tail[rest] = 0x80;
  const end = new DataView(tail.buffer);
  end.setUint32(tail.length - 8, Math.floor(bytes.length / 2 ** 29));
  end.setUint32(tail.length - 4, (bytes.length << 3) >>> 0);
  for (let at = 0; at < tail.length; at += 64) block(end, at);
  return Array.from(state, (word) => word.toString(16).padStart(8, "0")).join("");
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const toHex = (bytes) => Array.from(bytes, (byte) => HEX[byte]).join("");
const utf8 = (text) => new TextEncoder().encode(text);

// The bytes of hex digits, behind some first bytes.
function fromHex(text, ...first) {
  const bytes = new Uint8Array(first.length + text.length / 2);
  bytes.set(first);
  for (let at = 0; at < text.length; at += 2) bytes[first.length + at / 2] = parseInt(text.slice(at, at + 2), 16);
  return bytes;
}

const webCrypto = globalThis.crypto && globalThis.crypto.subtle;

// The hashes of many messages, each by both implementations.
async function sha256All(messages) {
  const own = messages.map(sha256);
  if (webCrypto) {
    const other = await Promise.all(messages.map((message) => webCrypto.digest("SHA-256", message)));
    const at = other.findIndex((digest, at) => toHex(new Uint8Array(digest)) !== own[at]);
    if (at >= 0) throw new Error("this browser's two SHA-256 do not agree; nothing can be checked here");
  }
  return own;
}
