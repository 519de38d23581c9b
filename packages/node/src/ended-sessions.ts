// Follows the sessions that end: a logout is known within a second, and a request costs a look into a map.
//
// Gatehouse writes to the stream every second. After five seconds of silence every request is refused (503), and a
// stream that falls five seconds behind is opened again. Otherwise a thief could cut the connection or hold its events
// back, and use a stolen token after the logout.
const MAX_SILENCE = 5_000;

export class EndedSessions {
  private readonly ended = new Map<string, number>(); // session -> when it ended, oldest first
  private position = "";
  private missingBefore = 0;
  private heard = -Infinity;
  private keep = 0; // seconds, only ever raised: older tokens may live longer than newer ones
  private leastLag = Infinity; // seconds between the two clocks, by the fastest event of this connection
  private caughtUp = () => {};
  private readonly url: string;

  constructor(gatehouse: string, private readonly serviceKey: string) {
    this.url = `${gatehouse}/events/ended-sessions/stream`;
  }

  /** Resolves when all that ended so far is known, or after five seconds without it. */
  start(): Promise<void> {
    return new Promise((caughtUp) => {
      this.caughtUp = caughtUp;
      setTimeout(caughtUp, MAX_SILENCE);
      this.run();
    });
  }

  /** Whether the session has ended, or may have. Throws if that cannot be known. */
  has(sid: string, issued: number): boolean {
    if (this.ended.has(sid)) return true;
    if (performance.now() - this.heard > MAX_SILENCE) throw new Error("the feed of ended sessions is stale");
    return !(issued >= this.missingBefore);
  }

  private async run(): Promise<never> {
    for (;;) {
      await this.follow().catch((problem: Error) => console.warn("ended sessions:", problem.message));
      await new Promise((resume) => setTimeout(resume, 500));
    }
  }

  private async follow(): Promise<void> {
    const abort = new AbortController();
    const silence = setTimeout(() => abort.abort(), MAX_SILENCE);
    try {
      const headers: Record<string, string> = { Authorization: `Bearer ${this.serviceKey}` };
      if (this.position) headers["Last-Event-ID"] = this.position;
      const url = this.position ? this.url : `${this.url}?after=oldest`;
      const answer = await fetch(url, { headers, signal: abort.signal });
      if (answer.status === 401) throw new Error("the feed answers 401: check the service key");
      if (!answer.ok || !answer.body) throw new Error(`the feed answers ${answer.status}`);
      this.leastLag = Infinity;
      let rest = "";
      for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
        const events = (rest + chunk).split("\n\n");
        rest = events.pop() ?? "";
        for (const event of events) this.take(Object.fromEntries(event.split("\n").map((line) => line.split(/: (.*)/, 2))));
        silence.refresh();
      }
    } finally {
      clearTimeout(silence);
    }
  }

  private take({ event, id = "", data = "{}" }: Record<string, string>): void {
    const { sid, at, missing_before: missingBefore, keep } = JSON.parse(data);
    if (event === "ended") this.ended.set(sid, at);
    if (event === "gap") this.missingBefore = Math.max(this.missingBefore, missingBefore);
    if (event !== "position") return;
    this.refuseLate(at);
    this.keep = Math.max(this.keep, keep);
    for (const [session, ended] of this.ended) {
      if (ended >= Date.now() / 1000 - this.keep) break;
      this.ended.delete(session);
    }
    this.position = id;
    this.heard = performance.now();
    this.caughtUp();
  }

  private refuseLate(sent: number): void {
    const lag = performance.now() / 1000 - sent;
    this.leastLag = Math.min(this.leastLag, lag);
    if (!(lag <= this.leastLag + MAX_SILENCE / 1000)) throw new Error("the feed arrives late");
  }
}
