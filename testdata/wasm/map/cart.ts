export function run(mode: i32, n: i32): i32 {
  if (mode == 0) return total(n);
  return deep(n);
}
class Cart {
  items: Array<i32> = [];
  add(v: i32): void { this.items.push(v); }
  at(i: i32): i32 { return this.items[i]; }
}
function total(n: i32): i32 {
  const c = new Cart();
  for (let i = 0; i < 3; i++) c.add(i);
  return c.at(n) + 1;
}
function deep(n: i32): i32 {
  if (n == 0) unreachable();
  return deep(n - 1) + 1;
}
