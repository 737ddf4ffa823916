/** Reads until it holds, for at least fifteen seconds: the machine may have much else to do. */
export async function eventually<T>(read: () => Promise<T> | T, holds: (value: T) => boolean): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    const value = await read();
    if (holds(value)) return value;
    if (attempt === 1500) throw new Error(`it never came to pass: ${JSON.stringify(value)}`);
    await new Promise((resolve) => void setTimeout(resolve, 10));
  }
}
