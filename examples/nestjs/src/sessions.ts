// Asks Gatehouse about the session of each token, so a logout counts at once. No answer, no entry: it throws.
export class Sessions {
  constructor(private readonly gatehouse: string, private readonly serviceKey: string) {}

  async isOpen(token: string): Promise<boolean> {
    const answer = await fetch(`${this.gatehouse}/oauth2/introspect`, {
      method: "POST",
      headers: { Authorization: `Bearer ${this.serviceKey}` },
      body: new URLSearchParams({ token }),
      signal: AbortSignal.timeout(3_000),
    });
    if (!answer.ok) throw new Error(`introspection answers ${answer.status}`);
    return ((await answer.json()) as { active?: unknown }).active === true;
  }
}
