/** A function that computes its value once for each object, and returns the same one afterwards. */
export function once<Key extends object, Value extends object>(compute: (key: Key) => Value): (key: Key) => Value {
  const values = new WeakMap<Key, Value>()
  return key => {
    let value = values.get(key)
    if (!value) values.set(key, (value = compute(key)))
    return value
  }
}
