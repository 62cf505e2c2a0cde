// Requests to this server, with the token if it wants one, and its errors in plain words.
import { el } from './dom.js';

const kept = 'symlake-token'; // in sessionStorage: it ends with the tab

// Failure is an answer other than a good one. code is the HTTP status, 0 if none came.
export class Failure extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

// ask sends a request and returns its Response. options are fetch's. It asks the reader for a token if the
// server wants one, and throws a Failure that says what went wrong and what to do.
export async function ask(path, options = {}) {
  for (let wrong = false; ; wrong = true) {
    const headers = new Headers(options.headers);
    const token = sessionStorage.getItem(kept);
    if (token) headers.set('Authorization', `Bearer ${token}`);
    let answer;
    try {
      answer = await fetch(path, { ...options, headers, cache: 'no-store', credentials: 'omit', redirect: 'error' });
    } catch (e) {
      if (e.name === 'AbortError') throw e;
      throw new Failure(0, 'The server does not answer. Is it still running, and does the network reach it?');
    }
    if (answer.status === 401) {
      sessionStorage.removeItem(kept);
      await askToken(wrong || token !== null);
      continue;
    }
    if (answer.ok) return answer;
    let reason = '';
    try {
      reason = (await answer.json()).error;
    } catch { /* a proxy answers in another form */ }
    throw new Failure(answer.status, plain(answer.status, reason));
  }
}

// askJSON returns the value that a path answers with.
export async function askJSON(path, options) {
  const answer = await ask(path, options);
  const value = await answer.json();
  if (value.error) throw new Failure(answer.status, `The answer ends early: ${value.error}.`);
  return value;
}

// lines calls each with every value of an answer in lines of JSON, as they come. each may return a promise.
export async function lines(answer, each) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let parts = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    let from = 0;
    for (let end; (end = value.indexOf('\n', from)) >= 0; from = end + 1) {
      parts.push(value.slice(from, end));
      const line = parts.join('');
      parts = [];
      if (line) await each(JSON.parse(line));
    }
    parts.push(value.slice(from));
  }
  const rest = parts.join('');
  if (rest.trim()) await each(JSON.parse(rest));
}

// plain puts an error of the server into words for people.
function plain(code, reason) {
  const why = reason ? ` The server says: ${reason}.` : '';
  switch (code) {
    case 400: return `The server does not understand the question.${why}`;
    case 403: return `The server does not answer this page.${why}`;
    case 404: return `There is nothing at this address.${why}`;
    case 408: return 'The upload took too long. Try again on a faster network.';
    case 413: return `This is more than the server reads or answers at once.${why} Its flags --max-body, --max-frames and --answer-limit raise that.`;
    case 429: return 'You ask for too much at once. Wait for your other requests, then try again.';
    case 503: return `The server or its store is busy or out of reach.${why} Try again in a moment.`;
  }
  return `The server answers with status ${code}.${why}`;
}

let waiting = null; // all requests that want a token wait for one answer

function askToken(wrong) {
  waiting ??= showDialog(wrong).finally(() => { waiting = null; });
  return waiting;
}

function showDialog(wrong) {
  return new Promise((resolve, reject) => {
    const field = el('input', { id: 'token', type: 'password', autocomplete: 'off', required: true, spellcheck: false });
    const dialog = el('dialog', { 'aria-labelledby': 'token-title' },
      el('form', { onsubmit: (e) => {
        e.preventDefault();
        sessionStorage.setItem(kept, field.value.trim());
        dialog.close('given');
      } },
      el('h2', { id: 'token-title' }, 'This server wants a token'),
      wrong && el('p', { class: 'wrong', role: 'alert' }, 'The server does not accept that token.'),
      el('p', {}, 'Whoever runs the server gave you one. The browser forgets it when you close this tab.'),
      el('label', { for: 'token' }, 'Token'), field,
      el('p', { class: 'actions' },
        el('button', { type: 'submit', class: 'primary' }, 'Use this token'),
        el('button', { type: 'button', onclick: () => dialog.close() }, 'Cancel'))));
    dialog.addEventListener('close', () => {
      const given = dialog.returnValue === 'given';
      dialog.remove();
      if (given) resolve();
      else reject(new Failure(401, 'The server answers only with a token. Reload the page to give one.'));
    });
    document.body.append(dialog);
    dialog.showModal();
    field.focus();
  });
}
