package com.example.shop;

import java.util.ArrayList;
import java.util.List;

public class Main {
  public static void main(String[] args) {
    Cart cart = new Cart();
    for (String arg : args) {
      cart.add(new Item(arg, arg.length()));
    }
    new Checkout(cart).pay(args.length);
  }
}

class Item {
  final String name;
  final int price;

  Item(String name, int price) {
    this.name = Checks.notEmpty(name);
    this.price = price;
  }
}

class Cart {
  private final List<Item> items = new ArrayList<>();

  Cart add(Item item) {
    items.add(Checks.notNull(item));
    return this;
  }

  int total(int per) {
    int sum = 0;
    for (Item item : items) {
      sum += Checks.share(item.price, per);
    }
    return sum;
  }
}

class Checks {
  static class BadInput extends RuntimeException {
    BadInput(String message, Throwable cause) {
      super(message, cause);
    }
  }

  static <T> T notNull(T value) {
    if (value == null) {
      throw new BadInput("missing: item", null);
    }
    return value;
  }

  static String notEmpty(String value) {
    if (value.isEmpty()) {
      throw new BadInput("empty: name", null);
    }
    return value;
  }

  static int share(int price, int per) {
    return price / (per - 2);
  }
}

class Checkout {
  private final Cart cart;

  Checkout(Cart cart) {
    this.cart = cart;
  }

  void pay(int per) {
    try {
      System.out.println(cart.total(per));
    } catch (ArithmeticException e) {
      throw new Checks.BadInput("cannot pay: " + per, e);
    }
  }
}
