// A Gin service that trusts the tokens of Gatehouse.
package main

import (
	"context"
	"log"
	"net/http"
	"os"

	"github.com/gin-gonic/gin"
)

func main() {
	// The address is also the issuer. If Gatehouse has a GATEHOUSE_ISSUER of its own, give that one to the verifier.
	gatehouse := setting("GATEHOUSE_URL", "http://127.0.0.1:8000")
	tokenType := setting("GATEHOUSE_TOKEN_TYPE", "at+jwt")
	ended := NewEndedSessions(gatehouse, os.Getenv("GATEHOUSE_SERVICE_KEY"))
	verifier, err := NewVerifier(context.Background(), gatehouse, gatehouse, "gatehouse", tokenType, ended)
	if err != nil {
		log.Fatal(err)
	}

	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	router.Use(gin.Recovery(), LoggedIn(verifier))
	router.GET("/hello", func(c *gin.Context) {
		c.JSON(http.StatusOK, gin.H{"userId": PrincipalOf(c).UserID})
	})
	router.POST("/users", RequirePerm("sys:user:add"), func(c *gin.Context) {
		c.JSON(http.StatusOK, gin.H{"addedBy": PrincipalOf(c).Username})
	})
	log.Fatal(router.Run("127.0.0.1:" + setting("PORT", "8104")))
}

func setting(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}
