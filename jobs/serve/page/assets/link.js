// Links that hold a question: packed into the fragment of the address, which browsers never send.

// Bounds, in characters of a link and in bytes of what it unpacks to.
export const longLink = 8_000; // programs that cut links begin to
export const mostLink = 500_000; // browsers do
const mostText = 64 << 20;

// pack returns the fragment for a question {text | bytes, name, app, artifact, frame0}.
export async function pack(question) {
  const { bytes, ...rest } = question;
  if (bytes) rest.base64 = toBase64(bytes);
  const plain = new Blob([JSON.stringify(rest)]);
  const packed = await new Response(plain.stream().pipeThrough(new CompressionStream('deflate-raw'))).arrayBuffer();
  return '#z=' + toBase64(new Uint8Array(packed)).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
}

// unpack returns the question of a fragment, null if there is none in it. A fragment that is damaged throws.
export async function unpack(fragment) {
  if (!fragment.startsWith('#z=')) return null;
  let packed;
  try {
    packed = fromBase64(fragment.slice(3).replace(/-/g, '+').replace(/_/g, '/'));
    const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw')).getReader();
    const parts = [];
    for (let size = 0; ;) {
      const { done, value } = await reader.read();
      if (done) break;
      if ((size += value.length) > mostText) throw new Error('too large');
      parts.push(value);
    }
    const question = JSON.parse(await new Blob(parts).text());
    if (typeof question !== 'object' || question === null) throw new Error('no question');
    if (question.base64) question.bytes = fromBase64(question.base64);
    delete question.base64;
    return question;
  } catch {
    throw new Error('This link is damaged or was cut. Ask for it again, or for the crash itself.');
  }
}

function toBase64(bytes) {
  let text = '';
  for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(text);
}

function fromBase64(text) {
  return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
}
