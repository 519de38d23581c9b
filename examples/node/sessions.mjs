// Asks Gatehouse about the session of each token, so a logout counts at once. No answer, no entry: it throws.
export class Sessions {
  constructor(gatehouse, serviceKey) {
    this.address = `${gatehouse}/oauth2/introspect`;
    this.serviceKey = serviceKey;
  }

  async isOpen(token) {
    const answer = await fetch(this.address, {
      method: "POST",
      headers: { Authorization: `Bearer ${this.serviceKey}` },
      body: new URLSearchParams({ token }),
      signal: AbortSignal.timeout(3_000),
    });
    if (!answer.ok) throw new Error(`introspection answers ${answer.status}`);
    return (await answer.json()).active === true;
  }
}
