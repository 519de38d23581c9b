// Says when something stops working and when it works again: not at each try, once a minute between.

const MINUTE = 60_000;

export type Log = (line: string) => void;

export class OutageLog {
  private lastWarning = -Infinity;

  constructor(private readonly log: Log, private readonly what: string, private readonly consequence: string) {}

  failed(reason: string): void {
    if (performance.now() < this.lastWarning + MINUTE) return;
    this.lastWarning = performance.now();
    this.log(`gatehouse: ${this.what}: ${reason}; ${this.consequence}`);
  }

  recovered(): void {
    if (this.lastWarning === -Infinity) return;
    this.lastWarning = -Infinity;
    this.log(`gatehouse: ${this.what}: works again`);
  }
}

/** What went wrong in a `fetch`: its own message says only that it failed. */
export function reasonOf(problem: unknown): string {
  const { cause, message } = problem as { cause?: { message?: string; code?: string }; message?: string };
  return cause?.message || cause?.code || message || String(problem);
}
