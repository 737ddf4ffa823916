/** One line of the result. */
export function row(what: string, value: string, bar: string): void {
  console.log(`${what.padEnd(56)}${value.padStart(20)}${bar === '' ? '' : `   bar ${bar}`}`);
}
