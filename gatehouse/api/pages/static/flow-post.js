// The answer to an application that wants it as a form. A classic script: it must run in every browser.

document.forms[0].submit();
