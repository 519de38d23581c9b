// How often the tokens of a login have been renewed, in a store that all tabs see alike.
//
// What one tab writes to localStorage reaches the others a moment later, and that moment is enough to renew twice. An
// IndexedDB transaction that has completed is seen by every later one. Only a number is kept here, never a token.

import { ROOT } from "./urls.js";

const STORE = "turns"; // its name in browsers since 0.1.0

/** @param {IDBTransactionMode} mode @param {(store: IDBObjectStore) => IDBRequest} work @returns {Promise<any>} */
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

/** Without IndexedDB nothing is counted: the service accepts a refresh that comes twice.
 * @param {number} [value] */
const orElse = (value) => () => value;

/** @param {string} login @returns {Promise<number>} */
export async function refreshCountOf(login) {
  return (await transact("readonly", (store) => store.get(login)).catch(orElse(0))) ?? 0;
}

/** @param {string} login @param {number} count */
export function setRefreshCount(login, count) {
  return transact("readwrite", (store) => store.put(count, login)).catch(orElse());
}

export function forgetRefreshCounts() {
  return transact("readwrite", (store) => store.clear()).catch(orElse());
}
