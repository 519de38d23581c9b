// A Gin service that trusts the tokens of Gatehouse.
package main

import (
	"log"
	"net/http"
	"os"

	"gatehouse.example/verify"
	"gatehouse.example/verify/ginguard"
	"github.com/gin-gonic/gin"
)

func main() {
	// The address is also the issuer. If Gatehouse has a GATEHOUSE_ISSUER of its own, say so with Issuer.
	verifier, err := verify.New(verify.Options{
		URL:        setting("GATEHOUSE_URL", "http://127.0.0.1:8000"),
		ServiceKey: os.Getenv("GATEHOUSE_SERVICE_KEY"),
		TokenType:  os.Getenv("GATEHOUSE_TOKEN_TYPE"),
		FailOpen:   os.Getenv("FAIL_OPEN") == "true",
	})
	if err != nil {
		log.Fatal(err)
	}

	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	router.Use(gin.Recovery())
	router.GET("/health", func(c *gin.Context) { c.JSON(http.StatusOK, gin.H{"status": "up"}) })
	guarded := router.Group("/", ginguard.Guard(verifier))
	guarded.GET("/hello", func(c *gin.Context) {
		c.JSON(http.StatusOK, gin.H{"userId": ginguard.PrincipalOf(c).UserID})
	})
	guarded.POST("/users", ginguard.RequirePerms("sys:user:add"), func(c *gin.Context) {
		c.JSON(http.StatusOK, gin.H{"addedBy": ginguard.PrincipalOf(c).Username})
	})
	log.Fatal(router.Run("127.0.0.1:" + setting("PORT", "8104")))
}

func setting(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}
