using System;
using System.Collections.Generic;
using System.Threading.Tasks;

namespace Shop.Core
{
    public class Cart<T> where T : IComparable<T>
    {
        readonly List<T> items = new List<T>();

        public int Count { get { return items.Count; } }

        public void Add(T item)
        {
            if (item == null)
                throw new ArgumentNullException("item");
            items.Add(item);
        }

        public class Entry
        {
            public static int Parse(string text)
            {
                int value = 0;
                foreach (char c in text)
                {
                    if (c < '0' || c > '9')
                        throw new FormatException("digit: " + c);
                    value = value * 10 + (c - '0');
                }
                return value;
            }
        }

        public IEnumerable<T> Sorted()
        {
            items.Sort();
            foreach (var i in items)
                yield return i;
        }
    }

    static class Program
    {
        static async Task<int> Pay(string amount)
        {
            await Task.Yield();
            Func<int, int> twice = v =>
            {
                if (v > 5)
                    throw new InvalidOperationException("too much: " + v);
                return v * 2;
            };
            return twice(Cart<string>.Entry.Parse(amount));
        }

        static void Try(string what, Action run)
        {
            try { run(); }
            catch (Exception e) { Console.WriteLine("== " + what); Console.WriteLine(e); }
        }

        static void Main()
        {
            var cart = new Cart<string>();
            cart.Add("b");
            Try("add", () => cart.Add(null));
            Try("parse", () => Cart<string>.Entry.Parse("12x"));
            Try("pay", () => Pay("7").Wait());
            Try("sorted", () => { foreach (var s in cart.Sorted()) if (s == "b") throw new Exception(s); });
        }
    }
}
