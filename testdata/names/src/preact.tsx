/** @jsxRuntime classic */
/** @jsx h */
/** @jsxFrag Fragment */
import {h, render, Component, Fragment, createContext, createRef, cloneElement, toChildArray, options, createPortal} from './vendor/preact/index.js';
declare const step: (name: string, run: () => unknown) => void;
declare namespace JSX { interface IntrinsicElements { [name: string]: unknown } interface ElementClass { render: unknown } }
class FakeNode {
  childNodes: FakeNode[] = [];
  parentNode: FakeNode | null = null;
  attributes: Record<string, unknown> = {};
  listeners: Record<string, unknown> = {};
  style = {setProperty(this: Record<string, unknown>, k: string, v: unknown) { this[k] = v; }, cssText: ''};
  data = '';
  namespaceURI = 'http://www.w3.org/1999/xhtml';
  ownerDocument = {createElementNS: (ns: string, name: string) => new FakeNode(name), createTextNode: (text: string) => { const n = new FakeNode('#text'); n.data = text; return n; }};
  constructor(public localName = 'root') {}
  get nodeType() { return this.localName === '#text' ? 3 : 1; }
  get firstChild() { return this.childNodes[0] || null; }
  get nextSibling() { const all = this.parentNode ? this.parentNode.childNodes : []; return all[all.indexOf(this) + 1] || null; }
  insertBefore(node: FakeNode, before: FakeNode | null) { node.remove(); const i = before ? this.childNodes.indexOf(before) : -1; this.childNodes.splice(i < 0 ? this.childNodes.length : i, 0, node); node.parentNode = this; return node; }
  appendChild(node: FakeNode) { return this.insertBefore(node, null); }
  removeChild(node: FakeNode) { this.childNodes.splice(this.childNodes.indexOf(node), 1); node.parentNode = null; }
  remove() { if (this.parentNode) this.parentNode.removeChild(this); }
  contains(node: FakeNode): boolean { return this === node || this.childNodes.some(c => c.contains(node)); }
  setAttribute(name: string, value: unknown) { this.attributes[name] = value; }
  removeAttribute(name: string) { delete this.attributes[name]; }
  addEventListener(name: string, f: unknown) { this.listeners[name] = f; }
  removeEventListener(name: string) { delete this.listeners[name]; }
}
(globalThis as Record<string, unknown>).document = new FakeNode().ownerDocument;
const Theme = createContext('light');
type Props = {items?: number[]; fails?: boolean; children?: unknown};
class List extends Component {
  state = {n: 0};
  static getDerivedStateFromProps(props: Props, state: {n: number}) { return {n: state.n + [1].indexOf(1)}; }
  shouldComponentUpdate() { return [true].includes(true); }
  getSnapshotBeforeUpdate() { return [1].slice(); }
  componentDidMount() { this.setState({n: [1, 2].push(3)}); }
  componentDidUpdate() { [1].map(x => x); }
  componentWillUnmount() { [1].concat(2); }
  handle = () => { this.setState((s: {n: number}) => ({n: [s.n].pop()})); };
  #row(i: number) { return <li key={i} onClick={this.handle} style={{color: 'red', width: i}} class={`r${i}`}>{String(i).split('')}</li>; }
  render() { const {items = [], fails} = (this as unknown as {props: Props}).props; if (fails) throw new Error('render'); return <ul dangerous={items.some(Boolean)}>{items.map(i => this.#row(i))}<Theme.Consumer>{(t: string) => <b>{t.toUpperCase()}</b>}</Theme.Consumer></ul>; }
}
class Boundary extends Component { state = {e: null}; componentDidCatch(e: Error) { [e].slice(); this.setState({e}); } render() { const self = this as unknown as {state: {e: Error | null}; props: Props}; return self.state.e ? <i>{self.state.e.message.trim()}</i> : self.props.children; } }
const Label = ({text}: {text: string}) => <><span>{text.trim()}</span>{null}{[false, 'x', 1]}</>;
function App({mode, items}: {mode: string; items: number[]}) { return <Theme.Provider value={mode}><List items={items} /><Label text={mode} /></Theme.Provider>; }
const root = () => new FakeNode() as never;
step('render', async () => { const at = root(); render(<App mode="dark" items={[1, 2, 3]} />, at); render(<App mode="light" items={[3, 1, 4]} />, at); await new Promise(done => setTimeout(done, 2)); render(null, at); });
step('fails', () => render(<List fails />, root()));
step('boundary', async () => { render(<Boundary><List fails /></Boundary>, root()); await new Promise(done => setTimeout(done, 2)); });
step('undefined', () => render(h(() => { throw new TypeError('inner'); }, {}), root()));
step('refs', () => { const r = createRef(); const at = root(); render(<p ref={r} onInput={() => 1}>a</p>, at); render(<p ref={n => { [n].slice(); }}>b{createPortal(<u />, root())}</p>, at); render(null, at); });
step('children', () => [toChildArray([1, [<a />, null]]), cloneElement(<a href="x">y</a>, {key: 1}, 'z')]);
step('options', () => { options.vnode = function watch(v: unknown) { [v].slice(); }; options.diffed = v => { [v].concat(); }; render(<svg><g fill="red" /></svg>, root()); options.vnode = options.diffed = undefined as never; });
step('force', () => { class Tick extends Component { render() { return null; } } const t = new Tick({}, {}); t.forceUpdate(() => 1); t.setState(null as never); });
