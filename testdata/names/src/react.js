import {createElement as h, Component, PureComponent, Fragment, Children, cloneElement, createContext, forwardRef, memo, lazy, Suspense, useState, useReducer, useMemo, useContext, useId, useRef, useCallback, useEffect, useSyncExternalStore} from '../node_modules/react/cjs/react.production.js';
import * as server from '../node_modules/react-dom/cjs/react-dom-server-legacy.browser.production.js';
const Theme = createContext('light');
function Row({n}) { const [v] = useState(() => [n].map(x => x * 2)); const id = useId(); return h('li', {id, className: 'r', style: {color: 'red', marginTop: n, '--x': 1}, 'data-n': n, onClick() {}}, v); }
const Total = memo(function Total({items}) { const sum = useMemo(() => items.reduce((a, b) => a + b, 0), [items]); const theme = useContext(Theme); return h('b', {title: '"<' + theme}, sum); });
const Input = forwardRef((props, ref) => h('input', {...props, ref, value: 'x', checked: true, readOnly: true}));
class List extends PureComponent { state = {n: 1}; static getDerivedStateFromProps(p, s) { return {n: [s.n].pop()}; } renderRow = n => h(Row, {key: n, n}); render() { return h('ul', null, this.props.items.map(this.renderRow), h(Theme.Consumer, null, t => t.toUpperCase())); } }
class Broken extends Component { render() { return this.helper(); } helper() { throw new Error('broken'); } }
function Counter() { const [s, dispatch] = useReducer((s, a) => s + [a].length, 0); const ref = useRef(0); const cb = useCallback(() => 1, []); useEffect(cb); if (s < 3) dispatch('x'); return h('i', null, s, ref.current); }
const render = (...e) => server.renderToString(h(Theme.Provider, {value: 'dark'}, ...e));
step('list', () => render(h(List, {items: [1, 2]}), h(Total, {items: [1, 2]}), h(Input, {type: 'checkbox'}), h(Counter)));
step('static', () => server.renderToStaticMarkup(h('html', null, h('head', null, h('title', null, 'x'), h('meta', {charSet: 'u'}), h('link', {rel: 'stylesheet', href: 'a', precedence: 'b'}), h('script', {async: true, src: 'c'}), h('style', {href: 'd', precedence: 'e'}, 'f')), h('body', null, h('select', {defaultValue: 'a'}, h('option', {value: 'a'}, 'b')), h('textarea', {defaultValue: 'x'}), h('svg', {viewBox: '0', xlinkHref: 'y'}), h('img', {src: 'z', srcSet: 'q'}), h('p', {dangerouslySetInnerHTML: {__html: '<b>'}}), h('a', {href: 'javascript:1'}), h('form', {action: '/x'}, h('button', {formAction: 'y'})), h('x-y', {foo: 1}), h('pre', null, '\nz')))));
step('broken', () => render(h(List, {items: []}), h(Broken)));
step('suspense', () => render(h(Suspense, {fallback: 'wait'}, h(lazy(() => Promise.resolve({default: Row})), {n: 1}))));
step('object child', () => render(h('p', null, {a: 1})));
step('bad type', () => render(h(undefined)));
step('bad style', () => render(h('p', {style: 'x'})));
step('void', () => render(h('br', null, 'x')));
step('innerHTML', () => render(h('p', {dangerouslySetInnerHTML: 'x'})));
step('textarea', () => render(h('textarea', {defaultValue: 'x'}, ['a', 'b'])));
step('children', () => [Children.map([h('a', {key: 1}), [h('b')], null], c => c), Children.only(h('i')), Children.toArray(['a', [1]]), Children.count([1, 2]), cloneElement(h('a'), {b: 1})]);
step('only', () => Children.only([1]));
step('clone', () => cloneElement(null));
step('set state', () => new Component({}, {}).setState(1));
step('hooks outside', () => useState(1));
step('store', () => render(h(function Store() { return useSyncExternalStore(() => () => 1, () => 1, () => [2].pop()); }), h(function NoServer() { return useSyncExternalStore(() => 1, () => 2); })));
step('loop', () => render(h(function Loop() { const [n, set] = useState(0); set(n + 1); return null; })));
step('async', () => render(h(async function Later() { return [1].map(x => x); })));
step('context', () => render(h(Fragment, null, h(Theme.Provider, {value: 'a'}, h(Theme.Consumer, null, function inner() { throw new Error('consumer'); })))));
