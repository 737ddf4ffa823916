/** One cell: a text, and how it may look where colours are shown. */
export type Cell = string | { text: string; colour?: Colour };
export type Colour = 'green' | 'red' | 'yellow' | 'cyan' | 'grey';

export interface Column<T> {
  header: string;
  cell(item: T): Cell;
  /** Only with `-o wide`. */
  wide?: boolean;
}

const CODES: Record<Colour, number> = { green: 32, red: 31, yellow: 33, cyan: 36, grey: 90 };
const GAP = 3;

/** Columns as kubectl sets them: three spaces between, none at the end of a line. */
export function formatTable(header: string[], rows: Cell[][], options: { isColoured?: boolean; widths?: number[] } = {}): string[] {
  const cells: Cell[][] = [header, ...rows];
  const widths = options.widths ?? columnWidths(cells);
  return cells.map((row) =>
    row
      .map((cell, index) => {
        const text = textOf(cell);
        const shown = options.isColoured ? coloured(cell) : text;
        return index === row.length - 1 ? shown : shown + ' '.repeat(Math.max(0, widths[index] - displayWidth(text)) + GAP);
      })
      .join('')
      .trimEnd(),
  );
}

export function columnWidths(rows: Cell[][]): number[] {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, index) => (widths[index] = Math.max(widths[index] ?? 0, displayWidth(textOf(cell)))));
  return widths;
}

export function tableOf<T>(columns: readonly Column<T>[], items: readonly T[], isWide: boolean): { header: string[]; rows: Cell[][] } {
  const shown = columns.filter((column) => isWide || !column.wide);
  return { header: shown.map(({ header }) => header), rows: items.map((item) => shown.map((column) => column.cell(item))) };
}

export function textOf(cell: Cell): string {
  return plain(typeof cell === 'string' ? cell : cell.text);
}

function coloured(cell: Cell): string {
  const text = textOf(cell);
  return typeof cell === 'string' || cell.colour === undefined ? text : `\u001b[${CODES[cell.colour]}m${text}\u001b[0m`;
}

/** What a cluster says may hold anything; a cell is one line, and gives the terminal no orders. */
function plain(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]+/g, ' ');
}

function displayWidth(text: string): number {
  return Array.from(text).length;
}
