// How often the tokens of a login have been renewed, in the one place that all tabs see alike.
//
// What one tab writes to localStorage reaches the others a moment later, and that moment is enough to renew twice. An
// IndexedDB transaction that has completed is seen by every later one. Only a number is kept here, never a token.

import { ROOT } from "./place.js";

const STORE = "turns";

function transact(mode, work) {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open(`gatehouse ${ROOT.pathname}`, 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const transaction = opening.result.transaction(STORE, mode);
      const request = work(transaction.objectStore(STORE));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => reject(transaction.error);
      opening.result.close();
    };
  });
}

/** A browser without IndexedDB does without: the service forgives a refresh that comes twice. */
const orElse = (value) => () => value;

export async function turnOf(login) {
  return (await transact("readonly", (store) => store.get(login)).catch(orElse(0))) ?? 0;
}

export function setTurn(login, turn) {
  return transact("readwrite", (store) => store.put(turn, login)).catch(orElse());
}

export function forgetTurns() {
  return transact("readwrite", (store) => store.clear()).catch(orElse());
}
